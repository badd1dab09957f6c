import { createFetchPublic, OutboundError } from '../../src/outbound/fetch-public.ts'
import { testAuthority } from './certificates.ts'

// GET argv[2] from 127.0.0.1, whatever its host name, and print the status or the reason.
const fetchPublic = createFetchPublic({
  resolve: async () => ['127.0.0.1'],
  allowLoopback: true,
  ...(process.argv[3] === 'trusted' ? { ca: testAuthority } : {}),
})
try {
  const { status } = await fetchPublic(new URL(process.argv[2] ?? ''), {
    deadlineMs: 5000,
    bodyBytesMax: 100,
  })
  console.log(status)
} catch (error) {
  console.log(error instanceof OutboundError ? error.reason : error)
}
