import { notFound } from 'millrace/server'
import type { LoaderArgs } from 'millrace/server'
import { LAB_GROUPS, patternOf } from '../lab/catalogue.ts'
import { sourceFiles, sourcePatterns } from './lab-sources.server.ts'

const FRESH_SECONDS = 3_600 // sources change with the build only

/** All routes of the lab, for the export. */
export async function paths() {
  return Array.from((await sourcePatterns()).keys(), (name) => ({ path: name.split('/') }))
}

/** The sources of one experiment, and what its card says. */
export async function loader({ params, cache }: LoaderArgs<'/lab/source/[...path]'>) {
  // A slash inside of a segment would be one more address of the same page.
  const pattern = (await sourcePatterns()).get(params.path.map(encodeURIComponent).join('/'))
  if (pattern === undefined) notFound()
  cache({ shared: { seconds: FRESH_SECONDS } })
  const card = LAB_GROUPS.flatMap(({ entries }) => entries).find((entry) => patternOf(entry) === pattern)
  return { pattern, card, files: await sourceFiles(pattern) }
}
