import './styles.css'

export const metadata = { title: 'APP_NAME' }

export default function HomePage() {
  return <h1 className="p-4 text-3xl font-semibold">APP_NAME</h1>
}
