import { external, Link, type PageProps } from 'millrace'
import { SiteHeader } from '../site/header.tsx'
import { MainArea } from '../site/main-area.tsx'
import { CLAIM, openGraph } from '../site/open-graph.ts'
import { Comparison } from './comparison.tsx'
import { Example } from './example.tsx'
import { Figures } from './figures.tsx'
import { StreamPanel } from './stream-panel.tsx'
import styles from './page.module.css'

type Props = PageProps<'/', typeof import('./loader.server.ts')>

export const metadata = {
  title: CLAIM,
  description:
    'Millrace renders React 19 on your Express 5 server: streamed pages with correct status codes, typed routes, loaders, forms that work without JavaScript, and error reports.',
  canonical: '/',
  openGraph: openGraph({ title: CLAIM, url: '/' }),
}

/** What sets Millrace apart from the frameworks of `/docs/comparison`, each with a page that shows it. */
const POINTS: readonly {
  readonly title: string
  readonly text: string
  readonly href: string
  readonly label: string
}[] = [
  {
    title: 'A 404 is a 404',
    text: 'Awaited data decides the status code, even when the rest of the page streams. The HTML of the 404 page is in the response, for crawlers and for visitors without JavaScript.',
    href: '/lab/not-found',
    label: 'Open a missing page',
  },
  {
    title: 'A form runs once',
    text: 'A double click, a reload or a lost connection does not run an action again. Forms are plain HTML and work before the scripts have loaded.',
    href: '/lab/guestbook',
    label: 'Sign the guestbook',
  },
  {
    title: 'Cached pages with a personal part',
    text: 'The server caches a page for all visitors. The part of each visitor, such as a name, follows in the same response.',
    href: '/lab/shell/1',
    label: 'See a cached page with your name',
  },
  {
    title: 'A cache that explains itself',
    text: 'Each response names the reason for a hit or a miss. Shared data cannot read cookies, so no visitor gets the data of another.',
    href: '/lab/kept/1',
    label: 'Cache a page, then drop it',
  },
  {
    title: 'Types without generated files',
    text: 'The URL pattern gives params, loaders and links their types. A link without a param does not compile.',
    href: '/lab/params/42',
    label: 'See a dynamic segment',
  },
  {
    title: 'Error reports on your own server',
    text: 'Visitors see a short code, the digest. With it you find the error in your log and reports, from the server and the browser.',
    href: '/lab/reports',
    label: 'Read the reports of this site',
  },
]

/** The first page of a visit: what Millrace is and for whom, how to get it, and a live example. */
export default function HomePage({ data }: Props) {
  const { release, published, example, rest, startedAt } = data
  return (
    <>
      <SiteHeader current="home" />
      <MainArea>
        <div className={styles['sections']}>
          <div className={styles['hero']}>
            <section className={styles['claim']}>
              <h1>{CLAIM}.</h1>
              <p className={styles['lede']}>
                Millrace streams React 19 pages from your Express 5 server. Status codes are correct, forms work without
                JavaScript, and your middleware keeps working.
              </p>
              <p className={styles['calls']}>
                <Link href="/docs/getting-started" className="button button-main">
                  Get started
                </Link>
                <Link href="/lab" className="button">
                  See it run in the lab
                </Link>
              </p>
              <div className={styles['get']}>
                <p>
                  Version {release.version}, {release.license} licence, Node 24 or newer. The package is not in the
                  registry yet. In a clone of{' '}
                  {release.code === undefined ? 'the repository' : <a href={release.code}>the repository</a>}, make the
                  package and a new application:
                </p>
                <pre>
                  <code>
                    {`npm ci && npm run package\nnpx --package ./millrace-${release.version}.tgz millrace new ../my-app`}
                  </code>
                </pre>
              </div>
            </section>
            <StreamPanel rest={rest} startedAt={startedAt} />
          </div>

          {published === undefined ? null : <Figures {...published} />}

          <Example files={example} />

          <section aria-labelledby="points" className={styles['points']}>
            <h2 id="points">What sets it apart</h2>
            <ul>
              {POINTS.map(({ title, text, href, label }) => (
                <li key={href}>
                  <h3>{title}</h3>
                  <p>{text}</p>
                  <p>
                    <Link href={external(href)} prefetch="none">
                      {label}
                    </Link>
                  </p>
                </li>
              ))}
            </ul>
          </section>

          <Comparison />
        </div>
      </MainArea>
    </>
  )
}
