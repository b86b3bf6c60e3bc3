import type { Component, ReactNode } from 'react'
import { renderToStaticMarkup } from 'react-dom/server'
import { describe, expect, test } from 'vitest'
import { RouteLoadError } from '../../../src/client/react/router-errors.ts'
import type { ErrorProps } from '../../../src/client/module-types.ts'
import { type BoundaryProps } from '../../../src/client/react/router-types.ts'
import { SegmentBoundary, ServerFailure } from '../../../src/client/react/boundaries.tsx'
import { caughtFallback, type FallbackHost } from '../../../src/client/react/caught-fallback.tsx'
import { createModuleCache } from '../../../src/client/react/module-cache.ts'
import { RedirectSignal, RefusalSignal } from '../../../src/shared/control-flow.ts'
import type { SegmentDefinition } from '../../../src/shared/route-definition.ts'
import { flush } from './route-data-server.ts'

type Caught = Component<BoundaryProps, { readonly thrown?: object | undefined; readonly visit?: number | undefined }>

/** A boundary of a segment with this definition, or the last resort, inside of which something was thrown. */
function createBoundary(definition: SegmentDefinition | undefined, thrown: unknown): Caught {
  const chain = definition ? [{ key: '/', definition }] : []
  const boundary: Caught = new SegmentBoundary({ chain, at: chain.length - 1, visit: 0, children: null })
  boundary.state = SegmentBoundary.getDerivedStateFromError(thrown)
  boundary.setState = (state: object) => {
    boundary.state = { ...boundary.state, ...state }
  }
  return boundary
}

/** Mounts a boundary under a router that gives this for what was caught. */
async function mount(boundary: Caught, caught: () => Promise<ReactNode>): Promise<void> {
  boundary.context = { caught }
  boundary.componentDidMount?.()
  await flush()
}

const broken = new Error('broken')

describe('a boundary', () => {
  test('shows what the router has loaded for it, and nothing before', async () => {
    const boundary = createBoundary({}, broken)
    const loading = Promise.withResolvers<ReactNode>()
    await mount(boundary, () => loading.promise)
    expect(renderToStaticMarkup(boundary.render())).toBe('')
    loading.resolve('the error page')
    await flush()
    expect(boundary.render()).toBe('the error page')
  })

  test('passes on what nothing was loaded for', async () => {
    const boundary = createBoundary({}, broken)
    await mount(boundary, async () => undefined)
    expect(() => boundary.render()).toThrow(broken)
  })

  test('shows nothing for a page that has been left meanwhile', async () => {
    const boundary = createBoundary({}, broken)
    const loading = Promise.withResolvers<ReactNode>()
    await mount(boundary, () => loading.promise)
    boundary.state = { visit: 1, thrown: undefined }
    loading.resolve('the error page')
    await flush()
    expect(boundary.state).toEqual({ visit: 1, thrown: undefined })
  })

  test('that is the last resort has a title, and ways on that need no router', () => {
    const html = renderToStaticMarkup(createBoundary(undefined, new ServerFailure('0123456789ab')).render())
    expect(html).toContain('<title>Application error</title>')
    expect(html).toContain('Application error: a server-side exception has occurred</h1>')
    expect(html).toContain('Digest: 0123456789ab')
    expect(html).toContain('<a href="" rel="external">Reload</a>')
    expect(html).toContain('<a href="/" rel="external">Home</a>')
  })

  test('that is the last resort shows nothing while a redirect is followed, and itself where none can be', async () => {
    const boundary = createBoundary(undefined, new RedirectSignal('/a', 307, false))
    expect(renderToStaticMarkup(boundary.render())).toBe('')
    await mount(boundary, async () => undefined)
    expect(renderToStaticMarkup(boundary.render())).toContain('Reload')
  })

  test('forgets what was caught with the next navigation, and not before', () => {
    const failed = { ...SegmentBoundary.getDerivedStateFromError(broken), visit: 3 }
    const props = { chain: [], at: -1, children: null }
    expect(SegmentBoundary.getDerivedStateFromProps({ ...props, visit: 3 }, failed)).toBeNull()
    expect(SegmentBoundary.getDerivedStateFromProps({ ...props, visit: 4 }, failed)).toEqual({
      visit: 4,
      thrown: undefined,
    })
  })
})

describe('what is shown for something that was thrown', () => {
  const told: ErrorProps[] = []
  const ErrorPage = (props: ErrorProps): ReactNode => {
    told.push(props)
    return 'error page'
  }
  const error = async () => ({ default: ErrorPage })
  const notFound = async () => ({ default: () => 'not found' })
  const retry = (): void => undefined

  function catchIn(definition: SegmentDefinition, value: unknown, load?: FallbackHost['load']) {
    const modules = createModuleCache()
    const events: unknown[] = []
    const host: FallbackHost = {
      modules,
      load:
        load ?? (async ({ chain, outcome }) => modules.load([chain[0]?.definition[outcome?.kind ?? 'error'] ?? error])),
      redirect: (to, external) => void events.push(`${external ? 'out ' : ''}${to}`),
      shown: ({ outcome: { kind, at } }) => void events.push(`${kind} at ${at}`),
    }
    const boundary = { chain: [{ key: '/', definition }], at: 0, visit: 0, onRetry: retry, children: null }
    return { events, host, modules, boundary, node: caughtFallback(host, boundary, value) }
  }

  test('is the fallback of its kind', async () => {
    expect(renderToStaticMarkup(await catchIn({ error, notFound }, broken).node)).toBe('error page')
    expect(renderToStaticMarkup(await catchIn({ error, notFound }, new RefusalSignal('notFound')).node)).toBe(
      'not found',
    )
  })

  test('is nothing where there is no fallback of its kind, or it does not load', async () => {
    expect(await catchIn({ notFound }, broken).node).toBeUndefined()
    expect(await catchIn({ error }, broken, () => Promise.reject(new Error('no script'))).node).toBeUndefined()
  })

  test('is the fallback also where only its styles do not load', async () => {
    const { host, boundary, modules } = catchIn({ error }, broken)
    await modules.load([error])
    const node = await caughtFallback({ ...host, load: () => Promise.reject(new Error('no style')) }, boundary, broken)
    expect(renderToStaticMarkup(node)).toBe('error page')
  })

  test.for([
    ['/a?b#c', false, '/a?b#c'],
    ['https://example.test/a', true, 'out https://example.test/a'],
  ] as const)('is nothing while a redirect to %s is followed', async ([to, external, followed]) => {
    const { events } = catchIn({ error }, new RedirectSignal(to, 307, external))
    await flush()
    expect(events).toEqual([followed])
  })

  test('is told as shown at once where it is the last resort', async () => {
    const { host, events, boundary } = catchIn({}, broken)
    expect(await caughtFallback(host, { ...boundary, at: -1 }, broken)).toBeUndefined()
    expect(events).toEqual(['error at -1'])
  })

  test('is told what has happened, and the status of an answer that was refused', async () => {
    const propsFor = async (thrown: unknown): Promise<ErrorProps | undefined> => {
      renderToStaticMarkup(await catchIn({ error }, thrown).node)
      return told.at(-1)
    }
    const refused = new RouteLoadError('route data', '/form', { status: 413 })
    expect(await propsFor(refused)).toEqual({ origin: 'client', reason: 'server', status: 413, retry })
    const unreached = new RouteLoadError('route data', '/form', { passing: true, reason: 'offline' })
    for (const other of [unreached, new RouteLoadError('script', '/a.js')]) {
      expect(await propsFor(other)).toEqual({ origin: 'client', reason: 'offline', retry })
    }
    for (const own of [Object.assign(new Error('own'), { status: 413, reason: 'server' }), null, 'text']) {
      expect(await propsFor(own)).toEqual({ origin: 'client', reason: 'crash', retry })
    }
    const unavailable = Object.assign(new ServerFailure('abc'), { status: 503 })
    expect(await propsFor(unavailable)).toEqual({
      origin: 'server',
      reason: 'server',
      status: 503,
      digest: 'abc',
      retry,
    })
    // A hole of a document or of an answer that broke off.
    expect(await propsFor(new ServerFailure())).toEqual({ origin: 'server', reason: 'offline', retry })
  })
})
