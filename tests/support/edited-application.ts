/** An application that is edited at random: a model of it, the edits, and the files of each state. */
import type { Random } from '../../scripts/seeded-random.ts'

/** A page of the model. */
interface EditedPage {
  /** Its pattern is `/<name>`, that of the first page `/`. */
  readonly name: string
  /** The base name of its module, which renaming changes. */
  file: string
  text: number
  /** Number in its stylesheet; none without one. */
  style: number | undefined
  /** The class in its stylesheet. */
  className: string
  /** What its loader gives; none without a loader. */
  loaded: number | undefined
  usesShared: boolean
  usesButton: boolean
}

/** The application's state. */
export interface EditedApplication {
  readonly pages: EditedPage[]
  layout: number
  global: number
  /** In `define` of the config. */
  edition: number
  /** In `.env`. */
  title: number
  document: number
  shared: { folder: string; name: string; value: number }
  button: { hasState: boolean; text: number }
  /** Number of redirects. */
  redirects: number
  /** Files with a fault, by what is appended to them. */
  readonly faults: Map<string, string>
  /** Counts all edits, so that no value comes twice. */
  count: number
}

/** The state before the first edit. */
export function firstState(): EditedApplication {
  const page = (name: string, count: number): EditedPage => ({
    name,
    file: name,
    text: count,
    style: count,
    className: 'page',
    loaded: count,
    usesShared: true,
    usesButton: true,
  })
  return {
    pages: [page('home', 1), page('one', 2), page('two', 3)],
    layout: 0,
    global: 0,
    edition: 0,
    title: 0,
    document: 0,
    shared: { folder: 'shared', name: 'label', value: 0 },
    button: { hasState: true, text: 0 },
    redirects: 0,
    faults: new Map(),
    count: 10,
  }
}

/** Paths of the pages, of a redirect that may be there, and of nothing. */
export function pathsOf({ pages, redirects }: EditedApplication): readonly string[] {
  return [...pages.map(({ name }) => (name === 'home' ? '/' : `/${name}`)), `/old-${redirects}`, '/nothing']
}

/** An edit: its name, and what it does to the state. An edit that does not fit the state does something close to it. */
type Edit = readonly [name: string, change: (state: EditedApplication, random: Random) => void]

const MOST_PAGES = 8

/** Edits of the application, settings left out. */
export const EDITS: readonly Edit[] = [
  ['text of a page', (state, random) => void (anyPage(state, random).text = next(state))],
  ['stylesheet of a page', (state, random) => void (anyPage(state, random).style = next(state))],
  ['stylesheet removed', (state, random) => void (anyPage(state, random).style = undefined)],
  ['class renamed', (state, random) => void (anyPage(state, random).className = `page${next(state)}`)],
  ['loader', (state, random) => void (anyPage(state, random).loaded = next(state))],
  ['loader removed', (state, random) => void (anyPage(state, random).loaded = undefined)],
  ['page renamed', (state, random) => void (anyPage(state, random).file = `page-${next(state)}`)],
  ['page added', addPage],
  ['page removed', removePage],
  ['import of the shared module', (state, random) => toggle(anyPage(state, random), 'usesShared')],
  ['import of the button', (state, random) => toggle(anyPage(state, random), 'usesButton')],
  ['layout', (state) => void (state.layout = next(state))],
  ['global stylesheet', (state) => void (state.global = next(state))],
  ['document', (state) => void (state.document = next(state))],
  ['shared module', (state) => void (state.shared.value = next(state))],
  ['export renamed', (state) => void (state.shared.name = `label${next(state)}`)],
  ['shared module moved', (state) => void (state.shared.folder = `shared-${next(state)}`)],
  ['button', (state) => void (state.button.text = next(state))],
  ['hooks of the button', (state) => toggle(state.button, 'hasState')],
  ['redirects', (state) => void (state.redirects = next(state))],
  ['syntax error in a page', (state, random) => fault(state, pageFile(anyPage(state, random)), 'const {')],
  ['import of nothing', (state, random) => fault(state, pageFile(anyPage(state, random)), "import './nothing.ts'")],
  ['loader that throws', throwInLoader],
  ['syntax error in a stylesheet', (state) => fault(state, 'layout.css', 'main { color: ')],
  ['export of nothing', (state) => fault(state, sharedFile(state), 'export { absent }')],
  ['table that throws', (state) => fault(state, 'routes.ts', "throw new Error('no table')")],
  ['all mended', ({ faults }) => faults.clear()],
  ['all mended', ({ faults }) => faults.clear()],
  ['all mended', ({ faults }) => faults.clear()],
]

/** Edits of what the development server reads once. */
export const SETTINGS_EDITS: readonly Edit[] = [
  ['config', (state) => void (state.edition = next(state))],
  ['.env', (state) => void (state.title = next(state))],
]

function next(state: EditedApplication): number {
  state.count += 1
  return state.count
}

function anyPage({ pages }: EditedApplication, random: Random): EditedPage {
  const page = pages[Math.floor(random() * pages.length)]
  if (page === undefined) throw new Error('The application has no page.')
  return page
}

function toggle<Key extends string>(target: Record<Key, boolean>, key: Key): void {
  target[key] = !target[key]
}

function fault({ faults }: EditedApplication, file: string, text: string): void {
  faults.set(file, text)
}

function throwInLoader(state: EditedApplication, random: Random): void {
  const page = anyPage(state, random)
  page.loaded ??= next(state)
  fault(state, loaderFile(page), "throw new Error('no loader')")
}

function addPage(state: EditedApplication, random: Random): void {
  if (state.pages.length >= MOST_PAGES) return removePage(state, random)
  const name = `page${next(state)}`
  const { text, ...rest } = anyPage(state, random)
  state.pages.push({ ...rest, text: text + state.count, name, file: name })
}

function removePage(state: EditedApplication, random: Random): void {
  const at = 1 + Math.floor(random() * (state.pages.length - 1))
  if (state.pages.length > 1) state.pages.splice(at, 1)
}

const pageFile = ({ file }: EditedPage): string => `pages/${file}.tsx`
const styleFile = ({ file }: EditedPage): string => `pages/${file}.module.css`
const loaderFile = ({ file }: EditedPage): string => `pages/${file}-loader.server.ts`
const sharedFile = ({ shared }: EditedApplication): string => `${shared.folder}/shared.ts`

/** Files of the project by path. */
export function filesOf(state: EditedApplication): ReadonlyMap<string, string> {
  const files = new Map<string, string>()
  for (const page of state.pages) {
    files.set(pageFile(page), pageText(page, state))
    if (page.style !== undefined) files.set(styleFile(page), `.${page.className} { outline-offset: ${page.style}px }\n`)
    if (page.loaded !== undefined) files.set(loaderFile(page), loaderText(page, state))
  }
  const { shared, button } = state
  files.set(sharedFile(state), `export const ${shared.name} = 'shared ${shared.value}'\n`)
  files.set('button.tsx', buttonText(button))
  files.set('layout.tsx', layoutText(state))
  files.set('layout.css', `main { scroll-margin-top: ${state.global}px }\n`)
  files.set('document.tsx', documentText(state))
  files.set('routes.ts', routesText(state))
  files.set('app.ts', appText(state))
  files.set('client.tsx', CLIENT)
  const inApp = [...files].map(([path, text]) => {
    const added = state.faults.get(path)
    return [`src/app/${path}`, added === undefined ? text : `${text}${added}\n`] as const
  })
  return new Map([
    ...inApp,
    ['millrace.config.ts', `export default { define: { EDITION: '${state.edition}' } }\n`],
    ['.env', `PUBLIC_TITLE=title ${state.title}\n`],
  ])
}

const CLIENT = `import { hydrate } from 'millrace'
import { Document } from './document.tsx'
import { routes } from './routes.ts'

void hydrate({ routes, document: Document })
`

function pageText(page: EditedPage, { shared }: EditedApplication): string {
  const { text, style, className, loaded, usesShared, usesButton } = page
  const lines = [
    ...(usesShared ? [`import { ${shared.name} as shared } from '../${shared.folder}/shared.ts'`] : []),
    ...(usesButton ? ["import { Button } from '../button.tsx'"] : []),
    ...(style === undefined ? [] : [`import styles from './${page.file}.module.css'`]),
    'declare const EDITION: string',
    '',
    `export const metadata = { title: 'Page ${text}' }`,
    '',
    `export default function Page(${loaded === undefined ? '' : '{ data }: { readonly data: { readonly value: number } }'}) {`,
    '  return (',
    `    <section${style === undefined ? '' : ` className={styles['${className}']}`}>`,
    `      <h1>Text ${text}, edition {EDITION}, {process.env.PUBLIC_TITLE}</h1>`,
    ...(loaded === undefined ? [] : ['      <p>Loaded {data.value}</p>']),
    ...(usesShared ? ['      <p>{shared}</p>'] : []),
    ...(usesButton ? ['      <Button />'] : []),
    '    </section>',
    '  )',
    '}',
    '',
  ]
  return lines.join('\n')
}

function loaderText({ loaded, usesShared }: EditedPage, { shared }: EditedApplication): string {
  const read = usesShared
    ? `import { ${shared.name} as shared } from '../${shared.folder}/shared.ts'\n`
    : "const shared = ''\n"
  return `${read}\nexport function loader() {\n  return { value: ${loaded} + shared.length }\n}\n`
}

function buttonText({ hasState, text }: EditedApplication['button']): string {
  return hasState
    ? `import { useState } from 'react'

export function Button() {
  const [count, setCount] = useState(0)
  return <button onClick={() => setCount(count + 1)}>Button ${text}: {count}</button>
}
`
    : `export const Button = () => <button>Button ${text}: 0</button>\n`
}

function layoutText({ layout, pages }: EditedApplication): string {
  const links = pages.map(({ name }) => `        <a href="/${name === 'home' ? '' : name}">${name}</a>\n`)
  return `import type { ReactNode } from 'react'
import './layout.css'

export default function Layout({ children }: { readonly children: ReactNode }) {
  return (
    <main>
      <nav>
${links.join('')}      </nav>
      <p>Layout ${layout}</p>
      {children}
    </main>
  )
}
`
}

function documentText({ document }: EditedApplication): string {
  return `import type { DocumentProps } from 'millrace'

export function Document({ head, children }: DocumentProps) {
  return (
    <html lang="en" data-document="${document}">
      <head>{head}</head>
      <body>{children}</body>
    </html>
  )
}
`
}

function routesText({ pages }: EditedApplication): string {
  const entries = pages.map((page) => {
    const loader = page.loaded === undefined ? '' : `, loader: () => import('./${loaderFile(page)}')`
    const layout = page.name === 'home' ? "layout: () => import('./layout.tsx'), " : ''
    const pattern = page.name === 'home' ? '/' : `/${page.name}`
    return `  '${pattern}': { ${layout}page: () => import('./${pageFile(page)}')${loader} },\n`
  })
  return `import { defineRoutes } from 'millrace'\n\nexport const routes = defineRoutes({\n${entries.join('')}})\n`
}

function appText({ redirects }: EditedApplication): string {
  return `import { defineApp } from 'millrace/server'
import { Document } from './document.tsx'
import { routes } from './routes.ts'

const rules = { redirects: [{ source: '/old-${redirects}', destination: '/', permanent: false }] }

export default defineApp({ routes, rules, document: Document })
`
}
