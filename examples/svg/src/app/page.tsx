import { useState } from 'react'
import wheelUrl from './wheel.svg'
import Wheel from './wheel.svg?react'

export const metadata = { title: 'SVG' }

const COLOURS = ['teal', 'firebrick']

export default function HomePage() {
  const [turn, setTurn] = useState(0)
  return (
    <main>
      <h1>SVG</h1>
      <p style={{ color: COLOURS[turn % COLOURS.length] }}>
        <Wheel role="img" aria-label="A wheel in the colour of its text" width="96" />
      </p>
      <button type="button" onClick={() => setTurn(turn + 1)}>
        Another colour
      </button>
      <p>
        <img src={wheelUrl} alt="The same wheel, by its URL" width="96" />
      </p>
    </main>
  )
}
