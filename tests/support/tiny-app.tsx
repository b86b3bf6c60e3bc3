import type { ComponentType } from 'react'
import { pino, type Logger } from 'pino'
import type { DocumentProps, TypedSegment } from '../../src/client/module-types.ts'
import { createApp, type CreateAppOptions, type MillraceApp } from '../../src/server/app.ts'
import { readConfig, type Config } from '../../src/server/config/config.ts'
import type { AppDefinition } from '../../src/server/api/define-app.ts'

/** A document with nothing of its own. */
export function TinyDocument({ head, children }: DocumentProps) {
  return (
    <html lang="en">
      <head>{head}</head>
      <body>{children}</body>
    </html>
  )
}

/** A server of a few lines, and the lines it logs. */
export interface TinyApp {
  readonly app: MillraceApp
  /** Log entries so far, parsed. */
  readonly logs: readonly Record<string, unknown>[]
}

/** Options of `tinyApp`; what is left out is as plain as it can be. */
export interface TinyAppOptions {
  readonly routes: Readonly<Record<string, TypedSegment>>
  readonly rules?: AppDefinition['rules']
  readonly middleware?: AppDefinition['middleware']
  readonly document?: ComponentType<DocumentProps>
  readonly environment?: Readonly<Record<string, string>>
  readonly assets?: CreateAppOptions['assets']
  readonly actions?: CreateAppOptions['actions']
  readonly reports?: AppDefinition['reports']
  readonly security?: AppDefinition['security']
  readonly start?: AppDefinition['start']
  readonly dataLifetime?: AppDefinition['dataLifetime']
}

/** Makes a server for one test. */
export function tinyApp(options: TinyAppOptions): TinyApp {
  const logs: Record<string, unknown>[] = []
  const log: Logger = pino(
    { level: 'trace', base: null },
    { write: (line: string) => void logs.push(JSON.parse(line) as Record<string, unknown>) },
  )
  const config: Config = readConfig(options.environment ?? {})
  const definition: AppDefinition = {
    routes: options.routes,
    document: options.document ?? TinyDocument,
    ...(options.rules === undefined ? {} : { rules: options.rules }),
    ...(options.reports === undefined ? {} : { reports: options.reports }),
    ...(options.security === undefined ? {} : { security: options.security }),
    ...(options.start === undefined ? {} : { start: options.start }),
    ...(options.dataLifetime === undefined ? {} : { dataLifetime: options.dataLifetime }),
    ...(options.middleware === undefined ? {} : { middleware: options.middleware }),
  }
  const app = createApp({
    app: definition,
    config,
    log,
    ...(options.assets === undefined ? {} : { assets: options.assets }),
    ...(options.actions === undefined ? {} : { actions: options.actions }),
  })
  return { app, logs }
}

/** A lazy import of a module that stands in the test. */
export function moduleOf<Module>(module: Module): () => Promise<Module> {
  return () => Promise.resolve(module)
}

/** A page module around a component. */
export function page<Props>(component: (props: Props) => unknown, metadata?: object) {
  return moduleOf({ default: component as never, ...(metadata === undefined ? {} : { metadata: metadata as never }) })
}

/** A fallback of each kind, marked with the segment it belongs to. */
export function fallbacks(mark: string) {
  return {
    error: moduleOf({
      default: ({ origin, digest }: { origin: string; digest?: string }) => (
        <p id="fallback">{`${mark} error ${origin} ${digest ?? ''}`}</p>
      ),
    }),
    notFound: moduleOf({ default: () => <p id="fallback">{`${mark} not found`}</p> }),
    forbidden: moduleOf({ default: () => <p id="fallback">{`${mark} forbidden`}</p> }),
    unauthorized: moduleOf({ default: () => <p id="fallback">{`${mark} unauthorized`}</p> }),
  }
}
