package main

import (
	"context"
	"net/http"

	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

func nameOr(name, fallback string) string {
	if name != "" {
		return name
	}
	return fallback
}

type properties map[string]any

var datacenters = kind[*Datacenter]{
	name: "Datacenter",
	new:  func() *Datacenter { return &Datacenter{} },
	parent: func(context.Context, client.Client, *Datacenter) (string, bool, error) {
		return "/datacenters", true, nil
	},
	body: func(d *Datacenter) any {
		body := properties{"name": nameOr(d.Spec.Name, d.Name), "location": d.Spec.Location}
		if d.Spec.Description != "" {
			body["description"] = d.Spec.Description
		}
		return properties{"properties": body}
	},
	read: func(ctx context.Context, platform *Platform, url string, d *Datacenter) (bool, error) {
		var found struct {
			resource
			Properties struct {
				Name        string `json:"name"`
				Description string `json:"description"`
				Location    string `json:"location"`
				Version     int64  `json:"version"`
			} `json:"properties"`
		}
		if _, err := platform.call(ctx, http.MethodGet, url+"?depth=1", nil, &found); err != nil {
			return false, err
		}
		d.Status.State, d.Status.Location, d.Status.Version = found.Metadata.State, found.Properties.Location, found.Properties.Version
		return found.Properties.Name == nameOr(d.Spec.Name, d.Name) && found.Properties.Description == d.Spec.Description, nil
	},
	patch: func(d *Datacenter) any {
		return properties{"name": nameOr(d.Spec.Name, d.Name), "description": d.Spec.Description}
	},
}

var servers = kind[*Server]{
	name:  "Server",
	new:   func() *Server { return &Server{} },
	query: "?deleteVolumes=true",
	parent: func(ctx context.Context, reader client.Client, s *Server) (string, bool, error) {
		var parent Datacenter
		key := types.NamespacedName{Namespace: s.Namespace, Name: s.Spec.DatacenterRef.Name}
		if err := reader.Get(ctx, key, &parent); err != nil {
			return "", false, client.IgnoreNotFound(err)
		}
		return "/datacenters/" + parent.Status.ID + "/servers", isReady(&parent), nil
	},
	body: func(s *Server) any {
		name := nameOr(s.Spec.Name, s.Name)
		body := properties{"properties": properties{"name": name, "cores": s.Spec.Cores, "ram": s.Spec.RAM}}
		entities := properties{}
		if volume := s.Spec.BootVolume; volume != nil {
			disk := properties{"name": nameOr(volume.Name, name), "size": volume.Size, "type": volume.Type, "imageAlias": volume.ImageAlias}
			entities["volumes"] = properties{"items": []any{properties{"properties": disk}}}
		}
		if len(s.Spec.NICs) > 0 {
			items := []any{}
			for _, nic := range s.Spec.NICs {
				items = append(items, properties{"properties": properties{"name": nic.Name, "lan": nic.LAN, "dhcp": nic.DHCP == nil || *nic.DHCP}})
			}
			entities["nics"] = properties{"items": items}
		}
		body["entities"] = entities
		return body
	},
	read: func(ctx context.Context, platform *Platform, url string, s *Server) (bool, error) {
		var found struct {
			resource
			Properties struct {
				Name    string `json:"name"`
				Cores   int64  `json:"cores"`
				RAM     int64  `json:"ram"`
				VMState string `json:"vmState"`
			} `json:"properties"`
			Entities struct {
				NICs struct {
					Items []struct {
						Properties struct {
							IPs []string `json:"ips"`
						} `json:"properties"`
					} `json:"items"`
				} `json:"nics"`
			} `json:"entities"`
		}
		if _, err := platform.call(ctx, http.MethodGet, url+"?depth=3", nil, &found); err != nil {
			return false, err
		}
		s.Status.State, s.Status.VMState = found.Metadata.State, found.Properties.VMState
		s.Status.Cores, s.Status.RAM, s.Status.IPs = found.Properties.Cores, found.Properties.RAM, nil
		for _, nic := range found.Entities.NICs.Items {
			s.Status.IPs = append(s.Status.IPs, nic.Properties.IPs...)
		}
		wanted := s.Spec
		return found.Properties.Name == nameOr(wanted.Name, s.Name) && found.Properties.Cores == wanted.Cores && found.Properties.RAM == wanted.RAM, nil
	},
	patch: func(s *Server) any {
		return properties{"name": nameOr(s.Spec.Name, s.Name), "cores": s.Spec.Cores, "ram": s.Spec.RAM}
	},
}
