import { createReportBudget, type ReportBudget } from '../delivery/report-budget.ts'

/** Share of the budget that is reserved for each client. */
const SHARE_OF_A_CLIENT = 4
const MOST_CLIENTS = 1_000

/** A report budget for all clients together. */
interface SharedBudget extends Pick<ReportBudget, 'refused'> {
  /**
   * Takes one: freely while half of a burst is left; below that, each client has a quarter of the budget. So failures
   * that one visitor provokes do not suppress the reports of others.
   * @param client as `clientKey` names it. @param now milliseconds.
   */
  take(client: string, now: number): boolean
}

/**
 * Remembers at most 1,000 clients; forgets the one seen longest ago.
 * @param perSecond as in `createReportBudget`. @param most as there.
 */
export function createSharedBudget(perSecond: number, most: number, mostClients = MOST_CLIENTS): SharedBudget {
  const all = createReportBudget(perSecond, most)
  const clients = new Map<string, ReportBudget>()
  let refused = 0

  function hasOwn(client: string, now: number): boolean {
    const own = clients.get(client) ?? createReportBudget(perSecond / SHARE_OF_A_CLIENT, most / SHARE_OF_A_CLIENT)
    clients.delete(client)
    clients.set(client, own)
    if (clients.size > mostClients) clients.delete(clients.keys().next().value ?? '')
    return own.take(now)
  }

  return {
    take(client, now) {
      // Always called: what was taken freely counts for its client.
      if (!hasOwn(client, now) && all.left(now) <= most / 2) {
        refused += 1
        return false
      }
      return all.take(now)
    },
    refused() {
      const count = refused + all.refused()
      refused = 0
      return count
    },
  }
}
