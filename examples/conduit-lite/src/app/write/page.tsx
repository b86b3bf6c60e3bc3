import type { PageProps } from 'millrace'
import { ActionForm } from '../form.tsx'
import { save } from '../articles/actions.server.ts'

type Props = PageProps<'/write/[[...slug]]', typeof import('./loader.server.ts')>

export const metadata = { title: 'Write' }

export default function WritePage({ data: { article } }: Props) {
  const fields = [
    { name: 'title', label: 'Title', value: article?.title },
    { name: 'about', label: 'What it is about', value: article?.about },
    { name: 'body', label: 'Text, with empty lines between paragraphs', rows: 14, value: article?.body },
    { name: 'tags', label: 'Tags, up to five', value: article?.tags.join(' ') },
  ]
  return (
    <section className="narrow">
      <h1>{article === null ? 'Write' : 'Edit'}</h1>
      <ActionForm id="article" action={save.bind(null, article?.slug ?? null)} fields={fields} button="Publish" />
    </section>
  )
}
