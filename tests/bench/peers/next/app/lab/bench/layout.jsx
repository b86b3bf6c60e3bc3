export default function BenchLayout({ children }) {
  return <main>{children}</main>
}
