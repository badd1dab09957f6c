import { render } from 'preact'
import { Frame } from '../parts/frame.tsx'

function Till() {
  return (
    <Frame home="/caja">
      <h1>Caja</h1>
    </Frame>
  )
}

const app = document.getElementById('app')
if (app) render(<Till />, app)
