import { Outlet } from 'react-router'

export default function BenchLayout() {
  return (
    <main>
      <Outlet />
    </main>
  )
}
