import express, { type Express, type Request } from 'express'
import type { ClientAddress, ProxyTrust } from '../http/trusted-proxy.ts'
import { isSecure } from '../http/trusted-proxy.ts'
import { contextOf } from '../request/attached-context.ts'

/** What middleware asks an Express request about its client; `secure`, `hostname` and `subdomains` follow from these. */
const GETTERS: Readonly<Record<string, (client: ClientAddress) => string | undefined>> = {
  ip: ({ address }) => address,
  protocol: (client) => (isSecure(client) ? 'https' : 'http'),
  host: ({ host }) => (host === '' ? undefined : host),
}

/**
 * Tells middleware the client as the application knows it. Express itself would believe the first of several hosts and
 * protocols, which the visitor may have sent. A mounted application with a `trust proxy` of its own keeps that.
 */
export function tellClients(app: Express, trustProxy: ProxyTrust): void {
  app.set('trust proxy', trustProxy)
  for (const [name, read] of Object.entries(GETTERS)) {
    const get = function (this: Request): unknown {
      const isOurs = this.app.get('trust proxy fn') === trustProxy
      return isOurs ? read(contextOf(this).clientAddress) : Reflect.get(express.request, name, this)
    }
    Object.defineProperty(app.request, name, { configurable: true, enumerable: true, get })
  }
}
