import { href, Link, useLocation, useMatches, useNavigation, useOnline, withBasePath } from 'millrace'
import type { Href, LayoutProps } from 'millrace'
import { signOut } from '../accounts/actions.server.ts'
import { LOCALES, toLocale, type Locale } from '../locales.ts'
import { useLocale, useWords, WORDS } from '../words.ts'

type Props = LayoutProps<'/[locale]', typeof import('./layout.server.ts')>

export const metadata = ({ params: { locale } }: Pick<Props, 'params'>) => ({
  title: { template: `%s · ${WORDS[toLocale(locale)].desk}`, default: WORDS[toLocale(locale)].desk },
})

export default function SiteLayout({ data: { user, message, origin }, params, children }: Props) {
  const { desk, nav, offline, otherLanguage } = useWords()
  const { search } = useLocation()
  const other = useLocale() === 'en' ? 'de' : 'en'
  const pathIn = usePathIn()
  const isBusy = useNavigation() !== undefined
  const links: (readonly [Href, string])[] = [
    [href('/[locale]/tickets', params), nav.tickets],
    [href('/[locale]/new/[step]', { ...params, step: 'topic' }), nav.new],
    [href('/[locale]/account', params), nav.account],
  ]
  if (user?.isAgent) links.push([href('/[locale]/stats', params), nav.stats])
  return (
    <>
      {LOCALES.map((locale) => (
        <link key={locale} rel="alternate" hrefLang={locale} href={origin + withBasePath(pathIn(locale))} />
      ))}
      <header className={`border-b bg-white ${isBusy ? 'border-teal-600' : 'border-stone-200'}`}>
        <div className="mx-auto flex max-w-5xl flex-wrap items-center gap-x-5 gap-y-2 px-4 py-3">
          <Link href={href('/[locale]', params)} className="text-lg font-bold text-teal-800">
            {desk}
          </Link>
          {user !== undefined && (
            <nav aria-label={desk} className="order-last flex w-full gap-x-4 sm:order-none sm:w-auto">
              {links.map(([to, name]) => (
                <Link key={to} href={to} current="below">
                  {name}
                </Link>
              ))}
            </nav>
          )}
          <Link href={(pathIn(other) + search) as Href} hrefLang={other} lang={other} className="link ml-auto">
            {otherLanguage}
          </Link>
          {user !== undefined && (
            <form action={signOut}>
              <button className="link">{nav.signOut}</button>
            </form>
          )}
        </div>
      </header>
      {!useOnline() && <p className="bg-amber-100 py-1 text-center text-sm text-amber-900">{offline}</p>}
      <main className="mx-auto flex max-w-5xl flex-col gap-4 px-4 py-6">
        {message !== undefined && <p className="notice">{message}</p>}
        {children}
      </main>
    </>
  )
}

/** The page on screen in another language. */
function usePathIn(): (locale: Locale) => Href {
  const { key = '/[locale]', params } = useMatches().at(-1) ?? {}
  const pattern = key.replaceAll(/\/\([^)]*\)/g, '') as '/[locale]'
  return (locale) => href(pattern, { ...params, locale })
}
