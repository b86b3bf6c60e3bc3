import { HelloPage } from '../../workloads.js'

export function meta() {
  return [{ title: 'Hello' }]
}

export default function Page() {
  return <HelloPage />
}
