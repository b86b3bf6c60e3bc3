import { ActionForm } from '../form.tsx'
import { signIn, signUp } from './actions.server.ts'

export const metadata = { title: 'Sign in' }

const fields = (autoComplete: string) =>
  [
    { name: 'name', label: 'Name', autoComplete: 'username' },
    { name: 'password', label: 'Password', type: 'password', autoComplete },
  ] as const

/** The page of a 401: signed in, a visitor sees there what was asked for. */
export default function SignInPage() {
  return (
    <section className="narrow">
      <h1>Sign in</h1>
      <ActionForm id="sign-in" action={signIn} fields={fields('current-password')} button="Sign in" />
      <h2>New here?</h2>
      <ActionForm id="sign-up" action={signUp} fields={fields('new-password')} button="Sign up" />
    </section>
  )
}
