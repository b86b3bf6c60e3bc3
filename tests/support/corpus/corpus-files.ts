import type { CorpusEntry } from './corpus-entry.ts'

/**
 * The files of an application with a page for each package, by path in the project.
 * @param entries packages whose names differ.
 */
export function corpusFiles(entries: readonly CorpusEntry[]): Readonly<Record<string, string>> {
  const files: Record<string, string> = {
    'src/app/routes.ts': `import { defineRoutes } from 'millrace'\n\nexport const routes = defineRoutes({
  '/': { page: () => import('./page.tsx') },
${entries.map(routeOf).join('')}})\n`,
  }
  for (const entry of entries) {
    const folder = `src/app/${entry.name}`
    files[`${folder}/page.tsx`] = pageOf(entry)
    if (entry.server !== undefined) files[`${folder}/loader.server.ts`] = loaderOf(entry.server)
  }
  return files
}

function routeOf({ name, server }: CorpusEntry): string {
  const loader = server === undefined ? '' : `, loader: () => import('./${name}/loader.server.ts')`
  return `  '/${name}': { page: () => import('./${name}/page.tsx')${loader} },\n`
}

function loaderOf([imports, value]: NonNullable<CorpusEntry['server']>): string {
  return `${imports}\n\nexport async function loader(): Promise<string> {\n  return ${value}\n}\n`
}

function pageOf({ name, server, page: [imports, jsx] = ['', '<></>'] }: CorpusEntry): string {
  const props = server === undefined ? '' : '{ data }: { readonly data: string }'
  const data = server === undefined ? '' : '<p id="server">{data}</p>'
  return `${imports}\n
export default function CorpusPage(${props}) {
  return (
    <main>
      <h1>${name}</h1>
      ${data}
      <div id="page">${jsx}</div>
    </main>
  )
}\n`
}
