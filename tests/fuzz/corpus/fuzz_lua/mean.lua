local sum = 0
for i, p in ipairs(predictions) do sum = sum + p[targets[i]] end
return sum / #predictions
