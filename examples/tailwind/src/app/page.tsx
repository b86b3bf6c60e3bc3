import { useState } from 'react'

export const metadata = { title: 'Tailwind' }

export default function HomePage() {
  const [wheels, setWheels] = useState(1)
  return (
    <>
      <h1 className="text-3xl font-semibold text-water">Tailwind</h1>
      <p className="my-4">Its classes are found in the files of this folder.</p>
      <button
        type="button"
        className="rounded-lg bg-water px-4 py-2 text-white hover:brightness-110"
        onClick={() => setWheels(wheels + 1)}
      >
        {wheels} wheels
      </button>
    </>
  )
}
