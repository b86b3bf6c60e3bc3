import { ActionForm, TextField } from '../site/fields.tsx'
import { titled, useWords } from '../words.ts'
import { askLink } from './actions.server.ts'

export const metadata = titled((words) => words.signIn)

/** The start page, and the page of a 401. */
export default function SignInPage() {
  const words = useWords()
  return (
    <div className="narrow">
      <h1>{words.signIn}</h1>
      <p>{words.welcome}</p>
      <ActionForm
        id="sign-in"
        action={askLink}
        label={words.askLink}
        renderState={() => <p role="status">{words.mailSent}</p>}
      >
        <TextField name="email" label={words.email} type="email" />
      </ActionForm>
    </div>
  )
}
