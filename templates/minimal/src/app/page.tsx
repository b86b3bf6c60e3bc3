export const metadata = { title: 'APP_NAME' }

export default function HomePage() {
  return <h1>APP_NAME</h1>
}
