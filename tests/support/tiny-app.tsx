import type { ComponentType } from 'react'
import { onTestFinished, TestRunner } from 'vitest'
import type { DocumentProps } from '../../src/client/module-types.ts'
import type { RouteDefinitions } from '../../src/shared/route-definition.ts'
import type { CreateAppOptions } from '../../src/server/app.ts'
import type { AppDefinition } from '../../src/server/api/define-app.ts'
import { openTestApp } from '../../src/testing/open-test-app.ts'
import { PlainDocument } from '../../src/testing/plain-document.ts'

/** A server of a few lines, and the lines it logs. */
export interface TinyApp {
  readonly app: ReturnType<typeof openTestApp>
  /** Log entries so far, parsed. */
  readonly logs: readonly Readonly<Record<string, unknown>>[]
}

/** Options of `tinyApp`; what is left out is as plain as it can be. */
export interface TinyAppOptions {
  readonly routes: RouteDefinitions
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
  readonly texts?: AppDefinition['texts']
}

/**
 * `createTestApp`, with what only tests of the runtime give it: files of a build, and actions by their modules. An app
 * that a test makes ends with that test.
 */
export function tinyApp({ environment, assets, actions, document = PlainDocument, ...rest }: TinyAppOptions): TinyApp {
  const definition = { ...rest, document } as AppDefinition
  const app = openTestApp(definition, {
    ...(environment === undefined ? {} : { environment }),
    ...(assets === undefined ? {} : { assets }),
    ...(actions === undefined ? {} : { actions }),
  })
  if (TestRunner.getCurrentTest() !== undefined) onTestFinished(() => app.dispose())
  return { app, logs: app.logs }
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
