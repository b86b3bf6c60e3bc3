import { Link } from 'millrace'
import { SiteHeader } from '../site/header.tsx'
import { MainArea } from '../site/main-area.tsx'
import { CodeSample } from './code-sample.tsx'
import { RaceDrawing } from './race-drawing.tsx'
import styles from './page.module.css'

export const metadata = {
  title: 'React on Express, streamed',
  canonical: '/',
  openGraph: { title: 'Millrace', type: 'website' },
}

/** What a visitor sees first: what this is, that it works, and where to read on. */
export default function HomePage() {
  return (
    <>
      <SiteHeader current="home" />
      <MainArea>
        <section className={styles['hero']}>
          <h1>A React application server, on the Express you know.</h1>
          <p>
            Millrace renders on the server and sends each page as soon as it can be read. One table of routes is shared
            by server and browser.
          </p>
          <p className={styles['calls']}>
            <Link href="/docs/getting-started" className={styles['call']}>
              Write a first page
            </Link>
            <Link href="/lab">See it work in the lab</Link>
          </p>
        </section>

        <figure className={styles['race']}>
          <RaceDrawing />
          <figcaption>A mill race is the narrow channel that leads water to a mill wheel.</figcaption>
        </figure>

        <section aria-labelledby="what" className={styles['points']}>
          <h2 id="what">What it does</h2>
          <dl>
            <div>
              <dt>Streams what is ready</dt>
              <dd>
                A loader may return promises. The page goes out without waiting for them, and each hole is filled in the
                same response. <Link href="/lab/stream?delay=1000">Watch one fill.</Link>
              </dd>
            </div>
            <div>
              <dt>Correct status codes</dt>
              <dd>
                What a loader awaits decides the status: 404, 403, 401, a redirect or 500, with the fallback page in the
                body of the response.{' '}
                <Link href="/lab/not-found" prefetch="none">
                  Look for a page that is not there.
                </Link>
              </dd>
            </div>
            <div>
              <dt>Types the URL</dt>
              <dd>
                A pattern such as <code>/lab/params/[id]</code> types its params, its loader and the links to it.{' '}
                <Link href="/docs/routes">Read about routes.</Link>
              </dd>
            </div>
            <div>
              <dt>Works without JavaScript</dt>
              <dd>
                Links and forms are plain HTML and work before the scripts have loaded, and without them. Pages of the
                lab that need JavaScript say so.
              </dd>
            </div>
            <div>
              <dt>Redirects, rewrites and headers</dt>
              <dd>
                Rules have the shapes of Next.js. A rule that Millrace cannot run stops the build, with its name.{' '}
                <Link href="/docs/rules">Read about rules.</Link>
              </dd>
            </div>
            <div>
              <dt>Keeps failures to itself</dt>
              <dd>
                A browser gets the digest of a server error, and not its message or stack. The log line has the same
                digest. <Link href="/docs/fallbacks-and-errors">Read about failures.</Link>
              </dd>
            </div>
          </dl>
        </section>

        <section aria-labelledby="page" className={styles['sample']}>
          <div>
            <h2 id="page">A page and its loader</h2>
            <p>
              The loader runs on the server and never reaches the browser. Its return type is the type of the page’s
              data. What is awaited there is part of the shell; what is not, streams.
            </p>
            <p>
              <Link href="/docs/loaders">Read about loaders.</Link>
            </p>
          </div>
          <CodeSample label="Example of a page and its loader" text={SAMPLE} />
        </section>
      </MainArea>
    </>
  )
}

const SAMPLE = `// loader.server.ts
export async function loader({ params }: LoaderArgs<'/mills/[id]'>) {
  const mill = await findMill(params.id)
  if (mill === undefined) notFound()
  return { mill, level: readGauge(mill) } // level is not awaited
}

// page.tsx
type Loader = typeof import('./loader.server.ts')
type Props = PageProps<'/mills/[id]', Loader>

export default function Page({ data }: Props) {
  return (
    <article>
      <h1>{data.mill.name}</h1>
      <Suspense fallback="Reading the gauge …">
        <Level of={data.level} />
      </Suspense>
    </article>
  )
}`
