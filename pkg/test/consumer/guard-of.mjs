// However the module was loaded, a codec of it and a guard are of one package.

export function guardOf({ Codec, Key, KeyRing }, Guard) {
  const codec = new Codec({ keys: new KeyRing([Key.generate()]), audience: 'a' });
  return new Guard({ codec, principal: 'anonymous' });
}
