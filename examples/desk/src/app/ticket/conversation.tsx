import { startTransition, useOptimistic, type SubmitEvent } from 'react'
import { href, Link, useParams, useUnsent, type LayoutProps } from 'millrace'
import { ActionForm, TextField } from '../site/fields.tsx'
import { useWords } from '../words.ts'
import { comment } from './actions.server.ts'

export type TicketProps = LayoutProps<'/[locale]/tickets/[id]', typeof import('./ticket.server.ts')>

export function Conversation({ data: { comments, visitor } }: Pick<TicketProps, 'data'>) {
  const words = useWords()
  const params = useParams('/[locale]/tickets/[id]')
  const isUnsent = useUnsent(comment)
  const [coming, show] = useOptimistic<string | null>(null)
  function showText({ currentTarget }: SubmitEvent<HTMLFormElement>): void {
    const text = String(new FormData(currentTarget).get('text')).trim()
    if (text !== '') startTransition(() => show(text))
  }
  return (
    <section aria-label={words.comments} className="flex min-w-0 flex-col gap-3">
      {comments.map(({ id, author, role, text, at, files }) => (
        <div key={id} className="card break-words whitespace-pre-wrap" data-role={role}>
          <small className="text-stone-600">{`${author}, ${at}`}</small>
          <p>{text}</p>
          {files.map(({ id: file, name }) => (
            <Link key={file} href={href('/[locale]/tickets/[id]/files/[file]', { ...params, file })} className="link">
              {name}
            </Link>
          ))}
        </div>
      ))}
      {coming !== null && (
        <div className="card break-words whitespace-pre-wrap opacity-60">
          <small className="text-stone-600">{`${visitor}, ${isUnsent ? words.unsent : words.sending}`}</small>
          <p>{coming}</p>
        </div>
      )}
      <ActionForm id="comment" action={comment.bind(null, params.id)} label={words.send} onSubmit={showText}>
        <TextField name="text" label={words.answer} rows={4} />
        <TextField name="files" label={words.files} type="file" hint={words.filesHint} />
      </ActionForm>
    </section>
  )
}
