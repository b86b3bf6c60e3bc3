import { HelloPage } from '../../../../workloads.js'

export const metadata = { title: 'Hello' }
export const dynamic = 'force-dynamic' // the others render each answer, too

export default function Page() {
  return <HelloPage />
}
