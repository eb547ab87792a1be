local function f(...) local a <const>, b = ... return function() a1 = (a or 0) + 1; return a1, b end end
::top:: local x = f(1, {n = 2, [3] = 0x1p4})() if x == 2 then return ~x & 7 | 8 ~ 1 end goto top
