/** A variable that says where to listen. */
export type PortVariable = 'PORT' | 'METRICS_PORT'

/** The name does not resolve, or is no address of this machine. Sources: getaddrinfo(3), bind(2). */
const HOST_FAULT = /\b(?:ENOTFOUND|EAI_AGAIN|EADDRNOTAVAIL|EINVAL|EAFNOSUPPORT)\b/

/**
 * One line for whoever started a server that cannot listen: the variable at fault, what the system says, and a value
 * that would do.
 * @param message of the system's error, with its code.
 */
export function listenFault(variable: PortVariable, address: { host: string; port: number }, message: string): string {
  const fault = `cannot listen on ${address.host}:${address.port}: ${message}`
  if (HOST_FAULT.test(message)) return `HOST: ${fault} (for example HOST=0.0.0.0)`
  return `${variable}: ${fault} (for example ${variable}=0, which picks a free one)`
}
