import './language.ts'
import { followTheme } from './theme.ts'

// Before the first paint, or the other theme would flash by.
followTheme()
