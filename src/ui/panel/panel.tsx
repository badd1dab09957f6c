import { render } from 'preact'
import { Frame } from '../parts/frame.tsx'

function Panel() {
  return (
    <Frame home="/panel">
      <h1>Panel</h1>
    </Frame>
  )
}

const app = document.getElementById('app')
if (app) render(<Panel />, app)
