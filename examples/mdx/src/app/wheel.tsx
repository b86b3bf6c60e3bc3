import { useState } from 'react'

export function Wheel() {
  const [turns, setTurns] = useState(0)
  return (
    <button type="button" onClick={() => setTurns(turns + 1)}>
      {turns} turns
    </button>
  )
}
