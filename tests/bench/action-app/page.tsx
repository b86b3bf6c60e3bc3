import { useActionState } from 'react'
import { read, store } from './actions.server.ts'

/** Both forms. */
export default function ActionPage() {
  const [, readAction] = useActionState(read, null)
  return (
    <main>
      <form id="store" action={store} />
      <form id="read" action={readAction} />
    </main>
  )
}
