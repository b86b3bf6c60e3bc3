import type { PageProps } from 'millrace'
import { ActionForm, TextField } from '../site/fields.tsx'
import { titled, useWords } from '../words.ts'
import { enter } from './actions.server.ts'

export const metadata = titled((words) => words.enter)

export default function EnterPage({ data: link }: PageProps<'/[locale]/enter', typeof import('./enter.server.ts')>) {
  const words = useWords()
  return (
    <div className="narrow">
      <h1>{link === undefined ? words.faults.linkOld : words.enter}</h1>
      {link !== undefined && (
        <ActionForm id="enter" action={enter} label={words.signIn}>
          <p>{link.email}</p>
          <input type="hidden" name="token" defaultValue={link.token} />
          {!link.isKnown && <TextField name="name" label={words.name} />}
        </ActionForm>
      )}
    </div>
  )
}
