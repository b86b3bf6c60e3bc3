import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { onTestFinished } from 'vitest'
import type { AppDefinition } from '../../src/server/api/define-app.ts'
import { NO_ASSETS } from '../../src/server/assets/manifest.ts'
import { exportApplication } from '../../src/server/export/export-application.ts'
import type { ExportReport } from '../../src/server/export/export-outcome.ts'
import type { RouteDefinitions } from '../../src/shared/route-definition.ts'
import { openTestApp } from '../../src/testing/open-test-app.ts'
import { PlainDocument } from '../../src/testing/plain-document.ts'
import { makeTempDir } from './temp-dir.ts'
import { page } from './tiny-app.tsx'

export type Definition = Omit<AppDefinition, 'document' | 'routes'> & { readonly routes: RouteDefinitions }

export const hello = page(() => <h1>Hello</h1>)

/** A folder of the test, and what is in it. */
export async function temporaryFolder() {
  const temp = await makeTempDir('export')
  onTestFinished(() => temp.remove())
  const folder = join(temp.path, 'site')
  return {
    folder,
    read: (name: string) => readFile(join(folder, name), 'utf8'),
    async names() {
      const entries = await readdir(folder, { recursive: true, withFileTypes: true })
      const files = entries.filter((entry) => entry.isFile())
      return files.map((file) => join(file.parentPath, file.name).slice(folder.length + 1)).toSorted()
    },
  }
}

interface Options {
  readonly isPartial?: boolean
  readonly environment?: Readonly<Record<string, string>>
  readonly actionSegments?: readonly string[]
}

/** Exports an application. */
export async function exported(folder: string, definition: Definition, options: Options = {}): Promise<ExportReport> {
  const { isPartial = false, environment = {}, actionSegments = [] } = options
  const app = openTestApp(definition as never, { environment, forFiles: true })
  onTestFinished(() => app.stop())
  return exportApplication({
    app,
    definition: { ...definition, document: PlainDocument } as AppDefinition,
    manifest: { ...NO_ASSETS, actionSegments },
    assets: undefined,
    host: 'localhost',
    folder,
    isPartial,
    onProgress: () => undefined,
  })
}
