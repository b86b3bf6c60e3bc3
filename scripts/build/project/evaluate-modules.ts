/**
 * Runs in a separate process: imports the chunks of a server's bundle, one after the other. Everything that they open or leave
 * running ends with it.
 */
import { registerHooks } from 'node:module'
import { pathToFileURL } from 'node:url'
import { inspect } from 'node:util'
import { neighbourModules } from '../resolve/neighbour-modules.ts'

/** A module that could not be evaluated. */
export interface EvaluationFault {
  /** Index of the chunk. */
  readonly index: number
  readonly message: string
  readonly stack: string
}

/** Messages to the parent process; `done` is the last one. */
export type EvaluationMessage = { readonly evaluating: number } | EvaluationFault | 'done'

function tell(message: EvaluationMessage): Promise<void> {
  return new Promise((told) => {
    process.send?.(message, () => told())
  })
}

async function evaluate(files: readonly string[]): Promise<void> {
  for (const [index, file] of files.entries()) {
    await tell({ evaluating: index })
    try {
      await import(pathToFileURL(file).href)
    } catch (thrown) {
      const { message, stack } = thrown instanceof Error ? thrown : new Error(inspect(thrown))
      await tell({ index, message, stack: stack ?? message })
    }
  }
  await tell('done')
  process.exit()
}

if (process.send !== undefined) {
  const neighbour = neighbourModules()
  registerHooks({
    resolve: (specifier, context, next) => neighbour(specifier, context.parentURL ?? '') ?? next(specifier, context),
  })
  process.once('disconnect', () => process.exit())
  // What a module has started may fail later: that is no fault of loading it.
  process.on('unhandledRejection', () => undefined)
  process.once('message', (files: readonly string[]) => void evaluate(files))
}
