/**
 * Runs in a separate process: imports the chunks of a server's bundle, one after the other. Everything that they open or leave
 * running ends with it.
 */
import { registerHooks } from 'node:module'
import { pathToFileURL } from 'node:url'
import { inspect } from 'node:util'
import { earlyModuleFault } from '../../../src/shared/route-shell-faults.ts'
import { neighbourModules } from '../resolve/neighbour-modules.ts'

/** A chunk to import. */
export interface EvaluatedModule {
  /** Absolute path. */
  readonly file: string
  /** Whether it is of a page with `shell: 'early'`, or its loader. */
  readonly isEarly: boolean
}

/** A module that could not be evaluated, or that breaks a rule. */
export interface EvaluationFault {
  /** Index of the chunk. */
  readonly index: number
  readonly message: string
  readonly stack: string
  /** It breaks a rule, which the message says. */
  readonly isRule?: true
}

/** Messages to the parent process; `done` is the last one. */
export type EvaluationMessage = { readonly evaluating: number } | EvaluationFault | 'done'

function tell(message: EvaluationMessage): Promise<void> {
  return new Promise((told) => {
    process.send?.(message, () => told())
  })
}

async function evaluate(modules: readonly EvaluatedModule[]): Promise<void> {
  for (const [index, { file, isEarly }] of modules.entries()) {
    await tell({ evaluating: index })
    try {
      const module: object = await import(pathToFileURL(file).href)
      const fault = isEarly ? earlyModuleFault(module) : undefined
      if (fault !== undefined) await tell({ index, message: fault, stack: '', isRule: true })
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
  process.once('message', (modules: readonly EvaluatedModule[]) => void evaluate(modules))
}
