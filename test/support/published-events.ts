/** Published events: vectors with known ids and signatures. */
import type { NostrEvent } from '../../src/nostr/event.ts'

/** A NIP-98 event of secret key 3 for a mint, with auxiliary data 0. */
export const nip98Vector: NostrEvent = {
  pubkey: 'f9308a019258c31049344f85f89d5229b531c845836f99b08601f113bce036f9',
  created_at: 1764630000,
  kind: 27235,
  tags: [
    ['u', 'https://merchant.example/api/coupons/mint'],
    ['method', 'POST'],
    ['payload', '8c0241b9c281b0dd488c81b083fb44a94509a10d7bf487fed78ab65518aaba69'],
    ['nonce', 'k3f9xq2'],
  ],
  content: '',
  id: '8d6234e1afd35c049f65c43b8a41e1922530a1fc7bacfe375515d7956a1b3ecb',
  sig: '6ca4b77d802f252ab937de022a416be75f05b791083f250c7f8fdddc222d6edcbc738c5219e0b2dba92a5a52e8f268bf7dba937f4e8f31b83782e909adfc873f',
}

/** A card activation of LaWallet, as it was on relays in 2023: its content is JSON. */
export const cardActivation: NostrEvent = {
  id: '8fad06887f4f0475889f93e2291d0151da1157d2b7551a38afb865d47554b2e8',
  pubkey: '49001062a54bc52153dcc69b65927833be519104249324e462eab45d494a0c46',
  created_at: 1698091892,
  kind: 21111,
  tags: [
    ['p', '75a66127dea5733b9402bddf697d0b27d7a094dfad62d22d85fd7f9eb6973a6f'],
    ['t', 'card-activation-request'],
  ],
  content:
    '{"otc":"weirdcode","delegation":{"conditions":"kind=1112&created_at<1700762400&created_at>1698080400","token":"dbf1ef362920cf20f9b1c1861e5491061dfb386437edf09d00f53d3f987265057d0b731e7d71d7a3eeef3c870881cca5b82647a6efa8caf04f25e0ba52606aa5"}}',
  sig: '285cbf75456456d7799a7450ac80b68d6ed31e833314a71609d2410016df34ef84d4c2187ae5670829909e60d0fdd73289250213e6ee90d98f7accce65317d2e',
}

/** An internal transaction of LaWallet, as it was on relays in 2024. */
export const internalTransaction: NostrEvent = {
  id: '7b6b54ee390ccd66b1340a2f5f4230420d8655fdc42ccf74136dd808840cfa18',
  pubkey: 'a4c10dc7da61602206cf4affe58cf721bae1593b23f76736ab1f65c8a1df9674',
  created_at: 1704494938,
  kind: 1112,
  tags: [
    ['p', 'cdc5662509a7660dfef50c634f7f3e3f3b0d57d4ca49a42152ddac641ccfaeb2'],
    ['p', 'e17feb5f2cf83546bcf7fd9c8237b05275be958bd521543c2285ffc6c2d654b3'],
    ['t', 'internal-transaction-start'],
    [
      'bolt11',
      'lnbc100n1pjn6ey0pp5t7mtzhs8q8wfcwajrhfz94jxg87g70wuay4qw02ta8azx62wf0dqhp5wh3x2fmc3nwhjqfv3czss6lndyxsvyskykgdzus3t5cyjs0sf6sqcqzzsxqzjcsp5hueuk64e2ra4vm9j82zk827g8l7dss2my9wta68qj36yfg4v66ss9qyyssqz7gree6qkl57xalqlcpxf5ye9yvsnuf0wf54dle0kstrwgjm0hkpa3mvd9y6f90fe6p07c5kzgtelxwl32lxkwm2c0hjnwxvted6vzspah0cj0',
    ],
  ],
  content: '{"tokens":{"BTC":10000}}',
  sig: '7b0d274fd83b8def04624143e5c7205a52d368c05acbc4128c3d29cbc64f3ce424aba1f9e7ffdc2ce88ccdcdbc908462c50d8dc1b1c96fa7f93611e85f5eea71',
}
