def html(d): return ""
