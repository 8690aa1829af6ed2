/** JSON texts and the digests that clients make of them. */
export const DIGESTS: readonly [string, string][] = [
  ['{"a":1}', 'XdhgKMbg1k4iUYb5astpM4ssWXZN95FiEH9cS7NNExA'],
  ['{"b":1,"a":1.0}', 'FrlqcDmb4Iisxc5QfaP3NSolLfMgU8XewTvY6giVV7A'],
  ['null', 'dCNOmKYnSYX12vHzasLXiswzlGT5UHA7jAGYkvmCuQs'],
  ['[1,2.5,-0.0,1e16,1e-7,123456789012345678901234567890]', 'vW4lC91yk1wHix06Gc1cPRzpBBSkdtvxUiXm1Jx4Vc0'],
  ['{"é":"ü😀\\u0007/\\u007f","Z":true,"\\uffff":1,"😀":2}', 'IjEwSatE7ifRSBEMELHSTk5Or9tNpyEqhUu5aUIqPqg'],
  [
    '"weave:///e/p/object/o:XdhgKMbg1k4iUYb5astpM4ssWXZN95FiEH9cS7NNExA"',
    'aOs3zvtPEeATW60scskoDBng8xStMBa2zxxOBXkJZuo',
  ],
]
