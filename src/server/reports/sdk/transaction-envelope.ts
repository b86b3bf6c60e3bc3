import type { Event } from '@sentry/node'
import { serializeEnvelope } from '../intake/envelope.ts'

/** Facts that every transaction tells the service. */
interface TransactionFacts {
  /** 32 hexadecimal digits, unique. */
  readonly eventId: string
  readonly release: string
  readonly environment: string
  readonly sdk: { readonly name: string; readonly version: string }
  /** Of Node, as `process.version` has it. */
  readonly runtime: string
}

/**
 * The envelope of a transaction, as the SDK would write it. We have made the event ourselves, so nothing needs to be
 * cleaned or cut; the SDK's scopes and processors took longer than the whole request.
 * @param event of type `transaction`.
 */
export function transactionEnvelope(event: Event, facts: TransactionFacts): Buffer {
  const { eventId, release, environment, sdk, runtime } = facts
  const { sdkProcessingMetadata, ...told } = event
  const payload = {
    ...told,
    contexts: { ...told.contexts, runtime: { name: 'node', version: runtime } },
    platform: 'node',
    event_id: eventId,
    environment,
    release,
    sdk,
  }
  return serializeEnvelope({
    header: { event_id: eventId, sdk, trace: sdkProcessingMetadata?.['dynamicSamplingContext'] as unknown },
    items: [{ type: 'transaction', header: { type: 'transaction' }, payload: Buffer.from(JSON.stringify(payload)) }],
  })
}
