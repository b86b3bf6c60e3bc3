import { useEffect, useRef } from 'react'
import { href, Link, useLoaderData, useNavigate, type PageProps } from 'millrace'
import { ActionForm, TextField } from '../site/fields.tsx'
import { useWords } from '../words.ts'
import { edit } from './actions.server.ts'

export default function EditDialog({ params }: PageProps<'/[locale]/tickets/[id]/edit'>) {
  const { ticket } = useLoaderData<typeof import('./ticket.server.ts')>('/[locale]/tickets/[id]', 'layout')
  const { navigate } = useNavigate()
  const words = useWords()
  const dialog = useRef<HTMLDialogElement>(null)
  const back = href('/[locale]/tickets/[id]', params)

  // The server writes it open, so that it shows without JavaScript. With it, it is modal.
  useEffect(() => {
    dialog.current?.removeAttribute('open')
    dialog.current?.showModal()
  }, [])

  const close = () => navigate(back, { replace: true, scroll: false })
  return (
    <dialog ref={dialog} open aria-label={words.edit} onClose={close} className="fixed inset-0 m-auto w-96 rounded-lg">
      <ActionForm id="edit" action={edit.bind(null, params.id)} label={words.save}>
        <TextField name="subject" label={words.subject} value={ticket.subject} />
        <TextField name="topic" label={words.labels.topic} value={ticket.topic} options={words.topics} />
      </ActionForm>
      <Link href={back} scroll={false} className="link block pb-4 text-center">
        {words.close}
      </Link>
    </dialog>
  )
}
