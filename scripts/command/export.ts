import { relative, resolve, join } from 'node:path'
import { pathToFileURL } from 'node:url'
import type { ExportEntry } from '../../src/server/export/export-outcome.ts'
import { BuildFault } from '../build/build-fault.ts'
import { EXPORT_ENTRY } from '../build/bundle-options.ts'
import { APP_ARGUMENT, locateApplication, OUT_ARGUMENT } from '../build/project/locate-application.ts'
import { readArguments } from '../build/project/read-arguments.ts'
import { buildIfNeeded } from './start.ts'

const ARGUMENTS = { ...APP_ARGUMENT, ...OUT_ARGUMENT, partial: { value: '' } } as const
const PROGRESS_MS = 1_000

/**
 * `millrace export <folder>`: writes the pages of the production build as files, after building it if it is missing or
 * outdated. Ends this process: modules of the application may hold it open.
 * @throws {BuildFault} for a wrong argument, and for everything that cannot be a file.
 */
export async function exportPages(args: readonly string[]): Promise<void> {
  const [folder, ...options] = args
  if (folder === undefined || folder.startsWith('-')) {
    throw new BuildFault('millrace export needs a folder: millrace export site')
  }
  const values = readArguments(options, ARGUMENTS)
  const located = await locateApplication(values)
  const buildOptions = options.filter((option) => option !== '--partial')
  if (!(await buildIfNeeded(buildOptions, located))) return
  process.env['NODE_ENV'] = 'production'
  process.setSourceMapsEnabled(true)
  const entry = join(located.out, `server/${EXPORT_ENTRY}.js`)
  const { exportSite } = (await import(pathToFileURL(entry).href)) as ExportEntry
  const started = performance.now()
  let told = started
  const outcome = await exportSite({
    folder,
    isPartial: values.partial !== undefined,
    onProgress(pages) {
      if (performance.now() - told < PROGRESS_MS) return
      told = performance.now()
      console.error(`Pages so far: ${pages.toLocaleString('en')}`)
    },
  })
  if (outcome.kind === 'failed') console.error(outcome.message)
  else {
    const { buildId, files, leftOut, pages } = outcome
    if (leftOut.length > 0)
      console.error(`Left out:\n${leftOut.map(({ what, reason }) => `  ${what}: ${reason}`).join('\n')}`)
    const seconds = ((performance.now() - started) / 1000).toFixed(1)
    const shown = relative(process.cwd(), resolve(folder)) || folder
    console.log(`Exported ${pages} pages, ${files} files, to ${shown} in ${seconds} s, build ${buildId}.`)
  }
  process.exit(outcome.kind === 'failed' ? 1 : 0)
}
