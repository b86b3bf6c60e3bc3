import { useLoaderData } from 'millrace'
import { ActionForm } from '../site/fields.tsx'
import { titled, useWords } from '../words.ts'
import { makeToken } from './actions.server.ts'

export const metadata = titled((words) => words.nav.account)

export default function AccountPage() {
  const { user } = useLoaderData<typeof import('../site/layout.server.ts')>('/[locale]', 'layout')
  const words = useWords()
  const shown = ({ token }: { readonly token: string }) => (
    <p role="status" className="notice">
      {words.tokenOnce} <code className="block break-all">{token}</code>
    </p>
  )
  return (
    <div className="narrow">
      <h1>{words.nav.account}</h1>
      <p>{`${user?.name}, ${user?.email}`}</p>
      <ActionForm id="token" action={makeToken} label={words.makeToken} renderState={shown}>
        <h2>{words.token}</h2>
        <p>{words.tokenHint}</p>
      </ActionForm>
    </div>
  )
}
