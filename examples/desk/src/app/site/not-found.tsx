import { href, Link } from 'millrace'
import { titled, useLocale, useWords } from '../words.ts'

export const metadata = titled((words) => words.notFound)

export default function NotFoundPage() {
  const words = useWords()
  return (
    <section className="narrow items-center px-4 py-16 text-center">
      <h1>{words.notFound}</h1>
      <p>{words.notFoundHint}</p>
      <Link href={href('/[locale]', { locale: useLocale() })} className="button">
        {words.home}
      </Link>
    </section>
  )
}
