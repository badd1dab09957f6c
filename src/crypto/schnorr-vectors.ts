import type { SchnorrEngine } from './schnorr.ts'

/** One line of the table published with BIP-340; `secret` and `aux` where the line also fixes the signature. */
type SchnorrVector = {
  name: string
  secret?: string
  aux?: string
  pubkey: string
  message: string
  signature: string
  valid: boolean
}

const merchantKey = 'dff1d77f2a671c5f36183726db2341be58feae1da2deced843240f7b502ba659'
const piMessage = '243f6a8885a308d313198a2e03707344a4093822299f31d0082efa98ec4e6c89'
const goodR = '6cff5c3ba86c69ea4b7376f31a9bcb4f74c1976089b2d9963da2e5543e177769'
const goodS = '69e89b4c5564d00349106b8497785dd7d1d713a8ae82b32fa79d5f7fc407d39b'

/** The published vectors (BIP-340, final version) for messages of 32 bytes. */
export const schnorrVectors: readonly SchnorrVector[] = [
  {
    name: 'smallest key',
    secret: '3'.padStart(64, '0'),
    aux: '0'.repeat(64),
    pubkey: 'f9308a019258c31049344f85f89d5229b531c845836f99b08601f113bce036f9',
    message: '0'.repeat(64),
    signature:
      'e907831f80848d1069a5371b402410364bdf1c5f8307b0084c55f1ce2dca821525f66a4a85ea8b71e482a74f382d2ce5ebeee8fdb2172f477df4900d310536c0',
    valid: true,
  },
  {
    name: 'odd public point',
    secret: 'b7e151628aed2a6abf7158809cf4f3c762e7160f38b4da56a784d9045190cfef',
    aux: '1'.padStart(64, '0'),
    pubkey: merchantKey,
    message: piMessage,
    signature:
      '6896bd60eeae296db48a229ff71dfe071bde413e6d43f917dc8dcf8c78de33418906d11ac976abccb20b091292bff4ea897efcb639ea871cfa95f6de339e4b0a',
    valid: true,
  },
  {
    name: 'random auxiliary data',
    secret: 'c90fdaa22168c234c4c6628b80dc1cd129024e088a67cc74020bbea63b14e5c9',
    aux: 'c87aa53824b4d7ae2eb035a2b5bbbccc080e76cdc6d1692c4b0b62d798e6d906',
    pubkey: 'dd308afec5777e13121fa72b9cc1b7cc0139715309b086c960e18fd969774eb8',
    message: '7e2d58d8b3bcdf1abadec7829054f90dda9805aab56c77333024b9d0a508b75c',
    signature:
      '5831aaeed7b44bb74e5eab94ba9d4294c49bcf2a60728d8b4c200f50dd313c1bab745879a5ad954a72c45a91c3a51d3c7adea98d82f8481e0e1e03674a6f3fb7',
    valid: true,
  },
  {
    name: 'message above p and n',
    secret: '0b432b2677937381aef05bb02a66ecd012773062cf3fa2549e44f58ed2401710',
    aux: 'f'.repeat(64),
    pubkey: '25d1dff95105f5253c4022f628a996ad3a0d95fbf21d468a1b33f8c160d8f517',
    message: 'f'.repeat(64),
    signature:
      '7eb0509757e246f19449885651611cb965ecc1a187dd51b64fda1edc9637d5ec97582b9cb13db3933705b32ba982af5af25fd78881ebb32771fc5922efc66ea3',
    valid: true,
  },
  {
    name: 'R with leading zeros',
    pubkey: 'd69c3509bb99e412e68b0fe8544e72837dfa30746d8be2aa65975f29d22dc7b9',
    message: '4df3c3f68fcc83b27e9d42c90431a72499f17875c81a599b566c9889b9696703',
    signature:
      '00000000000000000000003b78ce563f89a0ed9414f5aa28ad0d96d6795f9c6376afb1548af603b3eb45c9f8207dee1060cb71c04e80f593060b07d28308d7f4',
    valid: true,
  },
  {
    name: 'public key not on the curve',
    pubkey: 'eefdea4cdb677750a420fee807eacf21eb9898ae79b9768766e4faa04a2d4a34',
    message: piMessage,
    signature: goodR + goodS,
    valid: false,
  },
  {
    name: 'R with odd y',
    pubkey: merchantKey,
    message: piMessage,
    signature:
      'fff97bd5755eeea420453a14355235d382f6472f8568a18b2f057a14602975563cc27944640ac607cd107ae10923d9ef7a73c643e166be5ebeafa34b1ac553e2',
    valid: false,
  },
  {
    name: 'negated s',
    pubkey: merchantKey,
    message: piMessage,
    signature: `${goodR}961764b3aa9b2ffcb6ef947b6887a226e8d7c93e00c5ed0c1834ff0d0c2e6da6`,
    valid: false,
  },
  {
    name: 'R not on the curve',
    pubkey: merchantKey,
    message: piMessage,
    signature: `4a298dacae57395a15d0795ddbfd1dcb564da82b0f269bc70a74f8220429ba1d${goodS}`,
    valid: false,
  },
  {
    name: 'R equal to the field size',
    pubkey: merchantKey,
    message: piMessage,
    signature: `fffffffffffffffffffffffffffffffffffffffffffffffffffffffefffffc2f${goodS}`,
    valid: false,
  },
  {
    name: 's equal to the curve order',
    pubkey: merchantKey,
    message: piMessage,
    signature: `${goodR}fffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141`,
    valid: false,
  },
  {
    name: 'public key above the field size',
    pubkey: 'fffffffffffffffffffffffffffffffffffffffffffffffffffffffefffffc30',
    message: piMessage,
    signature: goodR + goodS,
    valid: false,
  },
]

/** The name of the first published vector the engine gets wrong, or null when it may be used. */
export function checkVectors(engine: SchnorrEngine): string | null {
  for (const vector of schnorrVectors) {
    if (!passes(engine, vector)) return vector.name
  }
  return null
}

function passes(engine: SchnorrEngine, vector: SchnorrVector): boolean {
  const [pubkey, message, signature] = [vector.pubkey, vector.message, vector.signature].map(bytes)
  if (!pubkey || !message || !signature) return false
  if (vector.secret && vector.aux) {
    const pair = engine.keypair(bytes(vector.secret))
    if (pair.pubkey.toHex() !== vector.pubkey) return false
    if (pair.sign(message, bytes(vector.aux)).toHex() !== vector.signature) return false
    // Fresh randomness gives another signature, which must hold as well.
    if (!engine.verify(pair.sign(message), message, pair.pubkey)) return false
  }
  if (engine.verify(signature, message, pubkey) !== vector.valid) return false
  if (!vector.valid) return true
  const wrong = Uint8Array.from(signature)
  wrong[63] = (wrong[63] ?? 0) ^ 1
  return !(
    engine.verify(wrong, message, pubkey) ||
    engine.verify(signature, wrong.subarray(0, 32), pubkey) ||
    ofOtherLength(signature).some((bad) => engine.verify(bad, message, pubkey)) ||
    ofOtherLength(message).some((bad) => engine.verify(signature, bad, pubkey)) ||
    ofOtherLength(pubkey).some((bad) => engine.verify(signature, message, bad))
  )
}

function ofOtherLength(part: Uint8Array): Uint8Array[] {
  return [part.subarray(1), part.subarray(0, -1), Uint8Array.from([...part, 0])]
}

function bytes(hex: string): Uint8Array {
  return Uint8Array.fromHex(hex)
}
