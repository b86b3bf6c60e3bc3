import type { DevWarning } from '../../../src/client/dev/dev-messages.ts'
import { entryPlace } from '../../build/project/entry-places.ts'
import { createDriftFinder } from '../../build/project/table-drift.ts'
import type { DevGeneration } from '../compile/dev-build.ts'
import { createLinkWarnings } from './link-warnings.ts'

/**
 * Finds what `millrace build` would refuse in a build: modules that do not fit their entries, and dead links. Warnings, because
 * table and modules are seldom saved at once.
 */
export function createTableWarnings(root: string): (generation: DevGeneration) => readonly DevWarning[] {
  const findDrift = createDriftFinder(root)
  const findLinks = createLinkWarnings()
  return (generation) => [
    ...findDrift(generation.sources).map(({ key, member, message }): DevWarning => {
      const place = entryPlace(generation.context, key, member)
      return { kind: 'table', message, ...(place === undefined ? {} : { frame: { name: '', own: true, ...place } }) }
    }),
    ...findLinks(generation),
  ]
}
