export const metadata = { title: 'Libraries' }

export default function HomePage() {
  return (
    <>
      <h1>Libraries</h1>
      <p>Each page uses one of them.</p>
    </>
  )
}
