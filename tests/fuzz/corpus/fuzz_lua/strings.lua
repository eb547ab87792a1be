local t = {}
for i = 1, 3 do t[#t + 1] = ("ab"):rep(i, ","):upper():sub(2, -2) .. tostring(t) end
table.sort(t, function(a, b) return #a > #b end)
return #table.concat(t, "-") + select("#", table.unpack(t)) + math.floor(2.5) // 1
