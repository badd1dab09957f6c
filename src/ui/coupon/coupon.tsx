import { render } from 'preact'
import { Frame } from '../parts/frame.tsx'

function Coupon() {
  return (
    <Frame home="/c">
      <h1>Cupón</h1>
    </Frame>
  )
}

const app = document.getElementById('app')
if (app) render(<Coupon />, app)
