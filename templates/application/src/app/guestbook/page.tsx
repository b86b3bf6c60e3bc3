import { useActionState } from 'react'
import type { PageProps } from 'millrace'
import { sign } from './actions.server.ts'

type Props = PageProps<'/guestbook', typeof import('./entries.server.ts')>

export const metadata = { title: 'Guestbook' }

export default function GuestbookPage({ data }: Props) {
  const [state, formAction, pending] = useActionState(sign, null)
  const { errors, values } = state?.kind === 'invalid' ? state : {}
  return (
    <>
      <h1>Guestbook</h1>
      <form action={formAction} noValidate>
        <label htmlFor="name">Your name</label>
        <input
          id="name"
          name="name"
          autoComplete="name"
          defaultValue={values?.['name']}
          aria-invalid={errors !== undefined}
          aria-describedby="name-fault"
        />
        <p id="name-fault" role="alert">
          {errors?.['name']}
        </p>
        <button aria-disabled={pending}>Sign</button>
        <p role="status">{state?.kind === 'signed' ? `Thank you, ${state.name}.` : null}</p>
      </form>
      <ul>
        {data.entries.map(({ id, name }) => (
          <li key={id}>{name}</li>
        ))}
      </ul>
    </>
  )
}
