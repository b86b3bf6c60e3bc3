import type { Event } from '@sentry/react'
import { debugIdOf } from '../../shared/reports/debug-id.ts'

/**
 * Adds the debug ids of the scripts in an event's stacks, by which the service finds their source maps.
 * @param prefix URL of the folder of built scripts.
 */
export function nameScripts<Reported extends Event>(event: Reported, prefix: string): Reported {
  const frames = event.exception?.values?.flatMap(({ stacktrace }) => stacktrace?.frames ?? []) ?? []
  const urls = new Set(frames.map(({ filename = '' }) => filename).filter((url) => url.startsWith(prefix)))
  if (urls.size === 0) return event
  const images = [...urls].map((url) => ({
    type: 'sourcemap' as const,
    code_file: url,
    debug_id: debugIdOf(url.slice(prefix.length).replace(/[?#].*/s, '')),
  }))
  return { ...event, debug_meta: { ...event.debug_meta, images: [...(event.debug_meta?.images ?? []), ...images] } }
}
