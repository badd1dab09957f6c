import './language.ts'
import { followTheme } from './theme.ts'

// Before the first paint: nobody sees the other theme flash by.
followTheme()
