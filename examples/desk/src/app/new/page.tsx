import { href, Link, type PageProps } from 'millrace'
import { ActionForm, TextField } from '../site/fields.tsx'
import { titled, useWords } from '../words.ts'
import { saveDetails, saveTopic, send } from './actions.server.ts'

type Props = PageProps<'/[locale]/new/[step]', typeof import('./draft.server.ts')>

export const metadata = titled((words) => words.nav.new)

export default function WizardPage({ data: { step, draft }, params }: Props) {
  const words = useWords()
  const { topic = 'fault', subject = '', text = '' } = draft
  return (
    <div className="narrow">
      <h1>{words.nav.new}</h1>
      <ol className="flex gap-6">
        {Object.entries(words.steps).map(([one, name]) => (
          <li key={one} aria-current={one === step ? 'step' : undefined}>
            <Link href={href('/[locale]/new/[step]', { ...params, step: one })}>{name}</Link>
          </li>
        ))}
      </ol>
      {step === 'topic' && (
        <ActionForm id="topic" action={saveTopic} label={words.next}>
          <TextField name="topic" label={words.labels.topic} value={topic} options={words.topics} />
          <TextField name="subject" label={words.subject} value={subject} />
        </ActionForm>
      )}
      {step === 'details' && (
        <ActionForm id="details" action={saveDetails} label={words.next}>
          <TextField name="text" label={words.message} value={text} rows={8} />
        </ActionForm>
      )}
      {step === 'review' && (
        <ActionForm id="review" action={send} label={words.sendTicket}>
          <h2>{subject}</h2>
          <p className="break-words whitespace-pre-wrap">{text}</p>
          <TextField name="files" label={words.files} type="file" hint={words.filesHint} />
        </ActionForm>
      )}
    </div>
  )
}
