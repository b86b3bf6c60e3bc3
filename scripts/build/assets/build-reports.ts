import { basename } from 'node:path'
import { build, type Metafile, type OutputFile } from 'esbuild'
import type { ReportAssets } from '../../../src/server/assets/manifest.ts'
import { PUBLIC_PATH } from '../build-options.ts'
import { recorderOptions, reportOptions, type BundleContext } from '../bundle-options.ts'

/** The browser's code for error reports. */
export interface BuiltReports {
  /** The SDK and its source map. */
  readonly outputFiles: readonly OutputFile[]
  readonly assets: ReportAssets
  /** Of the SDK. */
  readonly metafile: Metafile
}

/** Builds the recorder and the SDK. They contain nothing of the application. */
export async function buildReports(
  context: Pick<BundleContext, 'root' | 'runtime' | 'basePath'>,
): Promise<BuiltReports> {
  const [sdk, recorder] = await Promise.all([
    build({ ...reportOptions(context), metafile: true }),
    build(recorderOptions(context)),
  ])
  const outputFiles = sdk.outputFiles ?? []
  const file = outputFiles.find(({ path }) => path.endsWith('.js'))
  return {
    outputFiles,
    metafile: sdk.metafile,
    assets: {
      recorder: recorder.outputFiles?.[0]?.text.trim() ?? '',
      sdk: (context.basePath ?? '') + PUBLIC_PATH + basename(file?.path ?? ''),
    },
  }
}
