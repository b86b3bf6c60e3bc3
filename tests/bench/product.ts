/** A product with the libraries that products use: one page for each, so that none hides the cost of another. */
import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'

/** A library, and what a page does with it. */
interface Library {
  readonly name: string
  readonly version: string
  /** Statements before the page. */
  readonly imports: string
  /** Inside of its `main`. */
  readonly shown: string
}

const library = (name: string, version: string, imports: string, shown: string): Library => ({
  name,
  version,
  imports: `import ${imports} from '${name === 'motion' ? 'motion/react' : name}'`,
  shown,
})

const LIBRARIES: readonly Library[] = [
  library('lucide-react', '1.77.0', '{ Camera }', '<Camera size={16} />'),
  library('@tanstack/react-query', '5.108.0', '{ QueryClient }', '{typeof new QueryClient()}'),
  library('@tanstack/react-table', '9.3.1', '{ createColumnHelper }', '{typeof createColumnHelper}'),
  library('react-hook-form', '7.92.0', '{ useForm }', '<input {...useForm().register("a")} />'),
  library('date-fns', '4.4.0', '{ format }', '{format(new Date(0), "yyyy")}'),
  library('recharts', '3.11.0', '{ LineChart, Line }', '<LineChart data={[]}><Line dataKey="a" /></LineChart>'),
  library('@radix-ui/react-dialog', '1.3.1', '* as Dialog', '<Dialog.Root />'),
  library('@radix-ui/react-dropdown-menu', '2.2.1', '* as Menu', '<Menu.Root />'),
  library('@radix-ui/react-select', '2.4.1', '* as Select', '<Select.Root />'),
  library('@radix-ui/react-tabs', '1.2.1', '* as Tabs', '<Tabs.Root />'),
  library('motion', '14.14.0', '{ motion }', '<motion.div animate={{ opacity: 1 }} />'),
  library('clsx', '2.1.1', '{ clsx }', '{clsx("a", "b")}'),
  library('tailwind-merge', '3.7.0', '{ twMerge }', '{twMerge("p-1", "p-2")}'),
  library('zustand', '5.1.0', '{ create }', '{typeof create(() => ({}))}'),
  library('jotai', '3.0.1', '{ atom, useAtomValue }', '{typeof atom(1) + typeof useAtomValue}'),
  library('immer', '11.2.10', '{ produce }', '{produce({ a: 1 }, (draft) => void (draft.a = 2)).a}'),
  library('react-markdown', '10.1.0', 'Markdown', '<Markdown>{"# a"}</Markdown>'),
  library('remark-gfm', '4.0.1', 'gfm', '{typeof gfm}'),
  library('sonner', '2.0.8', '{ Toaster }', '<Toaster />'),
  library('cmdk', '1.1.1', '{ Command }', '<Command />'),
  library('react-day-picker', '10.0.2', '{ DayPicker }', '<DayPicker />'),
  library('lodash-es', '4.18.1', '{ startCase }', '{startCase("ab")}'),
  library('nanoid', '6.0.2', '{ nanoid }', '{nanoid().length}'),
  library('@dnd-kit/core', '6.3.1', '{ DndContext }', '<DndContext>a</DndContext>'),
  library('i18next', '27.1.5', 'i18next', '{i18next.language}'),
]

/** How many libraries the product has. */
export const LIBRARY_COUNT = LIBRARIES.length

const PAGES = 'src/app/libraries'

/** Bundles the same pages by esbuild alone, once, for browsers. */
const ALONE = `import { readdirSync } from 'node:fs'
import { build } from 'esbuild'

await build({
  entryPoints: readdirSync('${PAGES}').map((name) => '${PAGES}/' + name),
  outdir: 'alone',
  bundle: true,
  splitting: true,
  format: 'esm',
  minify: true,
  sourcemap: 'external',
  jsx: 'automatic',
  define: { 'process.env.NODE_ENV': '"production"' },
})
`

/** Adds the libraries and their pages to a new application. Their packages are not installed yet. */
export async function addLibraries(app: string): Promise<void> {
  const manifest = JSON.parse(await readFile(join(app, 'package.json'), 'utf8'))
  // recharts asks its application for it.
  manifest.dependencies['react-is'] = manifest.dependencies.react
  for (const { name, version } of LIBRARIES) manifest.dependencies[name] = version
  await writeFile(join(app, 'package.json'), JSON.stringify(manifest, undefined, 2))
  await mkdir(join(app, PAGES))
  for (const { name, imports, shown } of LIBRARIES) {
    const page = `${imports}\n\nexport default function Page() {\n  return <main>${shown}</main>\n}\n`
    await writeFile(join(app, PAGES, pageOf(name)), page)
  }
  const table = join(app, 'src/app/routes.ts')
  const entries = LIBRARIES.map(
    ({ name }, at) => `  '/libraries/${at}': { page: () => import('./libraries/${pageOf(name)}') },\n`,
  )
  const text = await readFile(table, 'utf8')
  await writeFile(table, text.replace(/^ {2}'\/':/m, `${entries.join('')}$&`))
  await writeFile(join(app, 'alone.mjs'), ALONE)
}

function pageOf(name: string): string {
  return `${name.replace(/\W+/g, '-')}.tsx`
}
